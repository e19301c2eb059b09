// A participant of another vendor's DDS (Fast DDS), for the test of the topics of ROS 2:
//	ros_peer read TOPIC TYPE COUNT: prints the publisher's user data, then COUNT payloads in hexadecimal
//	ros_peer write TOPIC TYPE HEX: writes this payload a hundred times a second until it is killed
// Payloads are not interpreted here: they begin with the encapsulation.
#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/domain/DomainParticipantListener.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/topic/TopicDataType.hpp>
#include <fastdds/dds/topic/TypeSupport.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

using namespace eprosima::fastdds::dds;
using eprosima::fastrtps::rtps::InstanceHandle_t;
using eprosima::fastrtps::rtps::SerializedPayload_t;
using Bytes = std::vector<unsigned char>;

namespace
{

class Raw : public TopicDataType
{
      public:
	explicit Raw(const char *name)
	{
		setName(name);
		m_typeSize = 4096;
		m_isGetKeyDefined = false;
	}
	bool serialize(void *data, SerializedPayload_t *payload) override
	{
		const Bytes &bytes = *static_cast<Bytes *>(data);
		payload->encapsulation = CDR_LE;
		payload->length = static_cast<uint32_t>(bytes.size());
		std::memcpy(payload->data, bytes.data(), bytes.size());
		return true;
	}
	bool deserialize(SerializedPayload_t *payload, void *data) override
	{
		static_cast<Bytes *>(data)->assign(payload->data, payload->data + payload->length);
		return true;
	}
	std::function<uint32_t()> getSerializedSizeProvider(void *data) override
	{
		return [data] { return static_cast<uint32_t>(static_cast<Bytes *>(data)->size()); };
	}
	void *createData() override
	{
		return new Bytes;
	}
	void deleteData(void *data) override
	{
		delete static_cast<Bytes *>(data);
	}
	bool getKey(void *, InstanceHandle_t *, bool) override
	{
		return false;
	}
};

std::atomic<bool> told{false};

// Prints the user data of the topic's publisher.
class Discovery : public DomainParticipantListener
{
      public:
	explicit Discovery(const char *topic) : topic_(topic)
	{
	}
	void on_publisher_discovery(DomainParticipant *,
				    eprosima::fastrtps::rtps::WriterDiscoveryInfo &&found) override
	{
		if (found.info.topicName() != topic_.c_str() || told)
			return;
		const auto &data = found.info.m_qos.m_userData;
		std::printf("user %.*s\n", static_cast<int>(data.size()),
			    reinterpret_cast<const char *>(data.data()));
		std::printf("type %s\n", found.info.typeName().c_str());
		told = true;
	}

      private:
	std::string topic_;
};

int read_payloads(DomainParticipant *participant, Topic *topic, int count)
{
	DataReaderQos qos = DATAREADER_QOS_DEFAULT;
	qos.reliability().kind = RELIABLE_RELIABILITY_QOS;
	DataReader *reader =
		participant->create_subscriber(SUBSCRIBER_QOS_DEFAULT)->create_datareader(topic, qos);
	while (count > 0 || !told) {
		Bytes bytes;
		SampleInfo info;
		if (reader->take_next_sample(&bytes, &info) != ReturnCode_t::RETCODE_OK || !info.valid_data) {
			std::this_thread::sleep_for(std::chrono::milliseconds(2));
			continue;
		}
		if (count-- <= 0)
			continue;
		std::printf("data ");
		for (const unsigned char byte : bytes)
			std::printf("%02x", byte);
		std::printf("\n");
	}
	return 0;
}

int write_payload(DomainParticipant *participant, Topic *topic, const char *hex)
{
	Bytes bytes;
	for (unsigned value; std::sscanf(hex, "%2x", &value) == 1; hex += 2)
		bytes.push_back(static_cast<unsigned char>(value));
	DataWriterQos qos = DATAWRITER_QOS_DEFAULT;
	qos.reliability().kind = BEST_EFFORT_RELIABILITY_QOS;
	DataWriter *writer =
		participant->create_publisher(PUBLISHER_QOS_DEFAULT)->create_datawriter(topic, qos);
	for (;;) {
		writer->write(&bytes);
		std::this_thread::sleep_for(std::chrono::milliseconds(10));
	}
}

} // namespace

int main(int argc, char **argv)
{
	if (argc != 5)
		return 2;
	Discovery discovery(argv[2]);
	DomainParticipant *participant = DomainParticipantFactory::get_instance()->create_participant(
		0, PARTICIPANT_QOS_DEFAULT, &discovery, StatusMask::none());
	if (!participant)
		return 1;
	TypeSupport(new Raw(argv[3])).register_type(participant);
	Topic *topic = participant->create_topic(argv[2], argv[3], TOPIC_QOS_DEFAULT);
	if (!topic)
		return 1;
	const int code = std::strcmp(argv[1], "read") == 0
				 ? read_payloads(participant, topic, std::atoi(argv[4]))
				 : write_payload(participant, topic, argv[4]);
	std::fflush(stdout);
	std::_Exit(code);
}
